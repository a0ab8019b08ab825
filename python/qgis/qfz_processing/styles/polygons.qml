<!DOCTYPE qgis PUBLIC 'http://mrcc.com/qgis.dtd' 'SYSTEM'>
<qgis version="3.22" styleCategories="Symbology">
 <renderer-v2 type="singleSymbol">
  <symbols>
   <symbol type="fill" name="0" alpha="1">
    <layer class="SimpleLine" enabled="1">
     <prop k="line_color" v="230,60,30,255"/>
     <prop k="line_width" v="0.2"/>
    </layer>
   </symbol>
  </symbols>
 </renderer-v2>
</qgis>
